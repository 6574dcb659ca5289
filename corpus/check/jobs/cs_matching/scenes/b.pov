box { 2 }
