import { UsageError } from '../argv.ts'
import { commands } from './command.ts'
import { parseWords } from './words.ts'

const usage = `Usage: dsh completion bash|zsh|fish

Prints a completion script. bash: source <(dsh completion bash) · zsh: dsh completion zsh > a file "_dsh" in $fpath ·
fish: dsh completion fish > ~/.config/fish/completions/dsh.fish
`

const FLAGS: readonly (readonly [string, string])[] = [
  ['--profile', 'the profile to run'],
  ['--print', 'run one task and exit'],
  ['--patch', 'apply a patch file on top'],
  ['--dump-config', 'print the composed rows'],
  ['--dump-default-config', "print the bundles' rows only"],
  ['--json', 'print a dump as JSON'],
  ['--strict', 'refuse patches that find nothing'],
  ['--safe', "run without the user's files"],
  ['--quiet', 'fewer diagnostics'],
  ['--verbose', 'more diagnostics'],
  ['--help', 'help'],
  ['--version', 'the version'],
]

const VERBS: Readonly<Record<string, readonly string[]>> = {
  config: ['explain'],
  plugin: ['--profile', 'add', 'remove', 'update', 'install', 'list'],
  profile: ['list', 'new', 'path', 'rm'],
  completion: ['bash', 'zsh', 'fish'],
  sessions: ['list', 'show', 'last', 'export', 'fork', 'rename', 'delete', 'prune', 'verify', 'repair'],
}

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseWords(args, {}, 1)
  const shell = positionals[0]
  if (values['help']) {
    process.stdout.write(usage)
    return 0
  }
  const scripts: Readonly<Record<string, () => string>> = { bash, zsh, fish }
  const script = shell === undefined ? undefined : scripts[shell]
  if (script === undefined) throw new UsageError('error: completion knows bash, zsh and fish')
  process.stdout.write(script())
  return 0
}

const names = () => Object.keys(commands).join(' ')
const flags = () => FLAGS.map(([flag]) => flag).join(' ')
const PROFILES = 'dsh profile list 2>/dev/null | cut -f1'

function bash(): string {
  const verbs = Object.entries(VERBS).map(([name, words]) => `    ${name}) words="${words.join(' ')}" ;;`)
  return `# bash completion for dsh
_dsh() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  case "$prev" in
    --profile) COMPREPLY=($(compgen -W "$(${PROFILES})" -- "$cur")); return ;;
    --patch) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  case "\${COMP_WORDS[1]}" in
${verbs.join('\n')}
    *) if [ "$COMP_CWORD" -eq 1 ]; then words="${flags()} ${names()}"; else words="${flags()}"; fi ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${flags()} ${names()}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [ "\${#COMPREPLY[@]}" -eq 0 ] && COMPREPLY=($(compgen -f -- "$cur"))
}
complete -F _dsh dsh
`
}

function zsh(): string {
  const options = FLAGS.map(([flag, text]) => `    '${flag}:${text.replaceAll("'", "'\\''")}'`)
  const verbs = Object.entries(VERBS).map(([name, words]) => `    ${name}) compadd -- ${words.join(' ')} ;;`)
  return `#compdef dsh
_dsh() {
  if [[ "\${words[CURRENT-1]}" == --profile ]]; then compadd -- \${(f)"$(${PROFILES})"}; return; fi
  if [[ "\${words[CURRENT-1]}" == --patch ]]; then _files; return; fi
  if (( CURRENT == 2 )); then compadd -- ${names()}; fi
  case "\${words[2]}" in
${verbs.join('\n')}
  esac
  local -a options=(
${options.join('\n')}
  )
  _describe option options
  _files
}
compdef _dsh dsh
`
}

function fish(): string {
  const lines = FLAGS.map(([flag, text]) => `complete -c dsh -l ${flag.slice(2)} -d '${text.replaceAll("'", "\\'")}'`)
  const verbs = Object.entries(VERBS).map(
    ([name, words]) => `complete -c dsh -n '__fish_seen_subcommand_from ${name}' -a '${words.join(' ')}'`,
  )
  return `# fish completion for dsh
complete -c dsh -n __fish_use_subcommand -a '${names()}'
${lines.join('\n')}
complete -c dsh -l profile -x -a '(${PROFILES})'
complete -c dsh -l patch -r
${verbs.join('\n')}
`
}
