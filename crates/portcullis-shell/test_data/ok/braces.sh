echo {a,b} {1..3} {} {a} x{,y} "{a,b}" {a,$b}
