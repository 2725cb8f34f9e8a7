a $(b; c
