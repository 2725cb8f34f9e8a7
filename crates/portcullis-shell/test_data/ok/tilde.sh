cd ~ && ls ~/x "~" a~ x=~/y; p=~/a:~/b
