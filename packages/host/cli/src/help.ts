export const help = `Usage: dsh [options] [task...]

A coding agent for the terminal whose every part is a row.

  dsh                              interactive session (needs a terminal)
  dsh "task"                       the same, with a first prompt
  dsh -p "task"                    one task, answer on stdout, exit code
  dsh --profile headless "task"    the same, by the profile's name

Options:
  --profile <name>       the profile to run
  -p, --print            run one task and exit (profile headless)
  --patch <path>         apply a patch file on top; may be repeated
  --dump-config          print the composed rows and which file said so
  --dump-default-config  print the bundles' rows only; opens no user file
  --json                 print a dump as JSON
  --strict               refuse to run when a patch finds nothing to act on
  --safe                 run without the user's patch files
  --quiet, --verbose     fewer or more diagnostics on stderr (or DSH_LOG=level)
  -h, --help             this text; behind --profile <name>, that profile's own
  -V, --version          the version

Commands:
  dsh config explain <row>         what each layer says about a row
  dsh demo                         a recorded session, played without a key
  dsh doctor                       what works on this machine, and the remedies
  dsh login                        store an API key
  dsh sessions <command>           the recorded sessions
  dsh replay <log or directory>    play a recorded session without a key
  dsh record "task" --to <dir>     run a task and keep it as a recording
  dsh profile <command>            list, make, find and remove profiles
  dsh plugin --profile <name> ...  add and remove out-of-tree rows
  dsh completion <shell>           completions for bash, zsh or fish

Words behind the first one that is no option go to the profile; a single -- ends the options.
`
