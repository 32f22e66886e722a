# Prints what fish completes the line to: complete.fish DIRECTORY LINE
source $argv[1]/fish/vendor_completions.d/login-relay.fish
complete -C $argv[2] | string replace -r '\t.*' ''
