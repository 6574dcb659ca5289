tool: $(SRC)/tool.c
	gcc -o $@ $<
