import { writeSync } from 'node:fs'
import { OptionError, parseArgv, UsageError } from './argv.ts'
import { commands } from './commands/command.ts'
import { help } from './help.ts'
import { watchOutput } from './lost-output.ts'
import { version } from './version.ts'

// Every config is validated once: compiling a parser for each schema costs more than it gives.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })

// An empty HOME is nobody's home; without one the system's own entry counts.
if (process.env['HOME'] === '') delete process.env['HOME']

let exitCode = (code: number): number => code
main(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})
process.on('exit', (code) => {
  process.exitCode = exitCode(code)
})

async function main(argv: readonly string[]): Promise<number> {
  try {
    const request = parseArgv(argv, Object.keys(commands))
    switch (request.kind) {
      case 'help':
        say(help)
        return 0
      case 'version':
        say(`${version}\n`)
        return 0
      case 'command':
        exitCode = watchOutput()
        return await runCommand(request.name, request.args)
      case 'launch':
        exitCode = watchOutput()
        if (request.dump !== undefined) return await (await import('./dump.ts')).dump(request)
        return await (await import('./launch.ts')).launch(request)
    }
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n`)
      return 2
    }
    const { reportFailure } = await import('./failure.ts')
    return reportFailure(error)
  }
}

async function runCommand(name: string, args: readonly string[]): Promise<number> {
  try {
    return await (await commands[name]!()).run(args)
  } catch (error) {
    if (error instanceof OptionError) throw new UsageError(`${error.message} (see dsh ${name} --help)`)
    throw error
  }
}

/** Setting `process.stdout` up costs more than all else that these two flags do. */
function say(text: string): void {
  try {
    writeSync(1, text)
  } catch {
    exitCode = watchOutput()
    process.stdout.write(text)
  }
}
