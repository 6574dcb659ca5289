library(shiny)

ui <- fluidPage(
  sliderInput("n", "Observations", 10, 1000, 100),
  plotOutput("histogram")
)

server <- function(input, output) {
  output$histogram <- renderPlot(hist(rnorm(input$n)))
}

shinyApp(ui, server)
