declare -a list=(a $(b) "c d") other=1
