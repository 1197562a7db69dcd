import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface TmuxOptions {
  readonly command: string
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  readonly columns?: number
  readonly rows?: number
}

/** A program in a real terminal, driven by keys and read as a person reads it. Each one has a tmux server of its own. */
export class Tmux {
  private readonly socket: string
  constructor(socket: string) {
    this.socket = socket
  }

  static async start(options: TmuxOptions): Promise<Tmux> {
    const tmux = new Tmux(`dsh-test-${process.pid}-${Math.random().toString(36).slice(2, 8)}`)
    const env = Object.entries(options.env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
    await tmux.call([
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      String(options.columns ?? 100),
      '-y',
      String(options.rows ?? 30),
      '-c',
      options.cwd,
      ...env,
      `${options.command}; echo "[ended $?]"; cat`,
    ])
    return tmux
  }

  private async call(args: readonly string[]): Promise<string> {
    return (await run('tmux', ['-L', this.socket, ...args], { maxBuffer: 1 << 26 })).stdout
  }

  /** tmux key names: `Enter`, `Escape`, `C-c`, `M-Enter`, `Up`. */
  async keys(...names: string[]): Promise<void> {
    await this.call(['send-keys', ...names])
  }

  async type(text: string): Promise<void> {
    await this.call(['send-keys', '-l', '--', text])
  }

  /** As a terminal pastes: in brackets. */
  async paste(text: string): Promise<void> {
    const child = execFile('tmux', ['-L', this.socket, 'load-buffer', '-'])
    child.stdin?.end(text)
    await new Promise((resolve) => child.on('close', resolve))
    await this.call(['paste-buffer', '-p'])
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.call(['resize-window', '-x', String(columns), '-y', String(rows)])
  }

  /** The visible screen, without trailing blanks. */
  async screen(): Promise<string> {
    return (await this.call(['capture-pane', '-p'])).replace(/\n+$/, '')
  }

  async scrollback(): Promise<string> {
    return this.call(['capture-pane', '-p', '-S', '-'])
  }

  async cursor(): Promise<{ column: number; row: number }> {
    const [column, row] = (await this.call(['display-message', '-p', '#{cursor_x} #{cursor_y}'])).trim().split(' ')
    return { column: Number(column), row: Number(row) }
  }

  /** The pid of the program in the pane (a shell's child). */
  async pid(): Promise<number> {
    return Number((await this.call(['display-message', '-p', '#{pane_pid}'])).trim())
  }

  /** Waits for a text on the screen (or in the scrollback with `anywhere`); throws with the screen when it does not come. */
  async waitFor(wanted: string | RegExp, timeoutMs = 15_000, anywhere = false): Promise<string> {
    const end = Date.now() + timeoutMs
    for (;;) {
      const text = anywhere ? await this.scrollback() : await this.screen()
      if (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)) return text
      if (Date.now() > end) throw new Error(`never saw ${wanted}; the screen is:\n${text}`)
      await new Promise((resolve) => setTimeout(resolve, 60))
    }
  }

  async close(): Promise<void> {
    await this.call(['kill-server']).catch(() => undefined)
  }
}
