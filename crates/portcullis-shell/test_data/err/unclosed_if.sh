if a; then b; c
