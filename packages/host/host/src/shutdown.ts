/** Exit codes of the signals that end the program in order. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export interface ShutdownOptions {
  /** Disposes everything; called once. */
  readonly dispose: () => Promise<void>
  readonly exit: (code: number) => void
  /** How long disposal may take before the program exits anyway. */
  readonly limitMs?: number
}

export interface Shutdown {
  /** Undefined until somebody asked to exit. */
  readonly code: number | undefined
  /** Resolves when somebody asked to exit, before anything is disposed. */
  readonly requested: Promise<void>
  /** Starts the end; the first code wins. */
  request(code: number): void
  /** Resolves after disposal. */
  readonly done: Promise<number>
  /** From here on signals end the program; gives the way back. */
  listen(): () => void
}

/** One way out: whoever asks first decides the code, disposal is bounded, a second signal does not wait for it. */
export function createShutdown(options: ShutdownOptions): Shutdown {
  const { dispose, exit, limitMs = 5000 } = options
  let code: number | undefined
  let wake: () => void = () => {}
  let finish: (code: number) => void = () => {}
  const requested = new Promise<void>((resolve) => {
    wake = resolve
  })
  const done = new Promise<number>((resolve) => {
    finish = resolve
  })

  function request(wanted: number): void {
    if (code !== undefined) return
    code = wanted
    wake()
    const timer = setTimeout(() => exit(wanted), limitMs)
    const end = () => {
      clearTimeout(timer)
      finish(wanted)
    }
    // A microtask later: a row may ask from inside its own setup, and cordis forgets effects of an owner disposed there.
    Promise.resolve().then(dispose).then(end, end)
  }

  function onSignal(signal: keyof typeof SIGNALS): void {
    if (code === undefined) request(SIGNALS[signal])
    else exit(SIGNALS[signal])
  }

  return {
    get code() {
      return code
    },
    requested,
    done,
    request,
    listen() {
      const names = Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]
      for (const name of names) process.on(name, onSignal)
      return () => {
        for (const name of names) process.off(name, onSignal)
      }
    },
  }
}
