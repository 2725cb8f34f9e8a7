#!/bin/sh
# The hook through which Cline asks portcullis. `portcullis init cline` writes it; do not change it by hand.
#
# Cline runs a call unless it reads that it is cancelled, whatever the exit code. So everything but a well-formed answer
# cancels it: a program that is missing, fails or says something else.
answer=$(@COMMAND@)
code=$?
case "$code $answer" in
'0 {"cancel":false}' | *' {"cancel":true,'*'}')
    printf '%s\n' "$answer"
    ;;
*)
    printf '%s\n' '{"cancel":true,"errorMessage":"portcullis: the program cannot be started or failed; blocked to be safe"}'
    ;;
esac
