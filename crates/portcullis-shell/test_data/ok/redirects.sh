>out 2>&1 cmd <in 3<>rw >>log >|force &>both &>>more <&- >&2 {fd}>x <<<here
