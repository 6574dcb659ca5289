sphere { 1 }
