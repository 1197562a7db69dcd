export const usage = `Usage: dsh sessions <command> [options]

  list                       every stored session, newest first
      --here                 only those of this directory      --limit <n>
  show <id>                  what was said and done            --full: whole tool results
  last                       the same of this directory's newest session (--anywhere: of all)
  export <id>                one file to keep or to share
      --format md|html|jsonl (default md; also --md, --html, --jsonl)   -o, --output <file>
      --fixture <dir>        a recording for "dsh replay" instead; --workspace <dir>: the files it started with
      --no-scrub, --scrub    secrets are taken out of md and html, and left in jsonl, unless told otherwise
  fork <id>                  a new session with the same past  --at <seq>  --id <new id>
  rename <id> <title>...     the title that lists show
  delete <id>...             removes the sessions and what belongs to them; asks nothing
  prune                      --older-than <30d|12h>, --keep <n> newest; --dry-run
  verify [<id>...]           every rule and every digest of the logs (default: of all)
  repair <id>...             makes damaged logs whole, with a backup beside them; --drop-unknown

An <id> may be shortened as long as it fits one session only. --json gives one JSON document on every command.
Exit: 0 done, 1 not found, damaged or refused, 2 usage.
`
