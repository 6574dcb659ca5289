#include <chrono>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

int main()
{
    std::ofstream log("relay.log", std::ios::app);
    while (true) {
        std::ifstream pipe("/run/relay.fifo");
        for (std::string line; std::getline(pipe, line);)
            log << line << std::endl;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
}
