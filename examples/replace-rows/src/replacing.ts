interface Row {
  readonly inject?: readonly string[]
  readonly Config?: unknown
  readonly apply: (ctx: never, config: never) => Promise<void>
}

/** The row under another name, saying on stderr that it is the one that runs. A real replacement has its own body. */
export function replacing(name: string, original: object) {
  const row = original as Row
  return {
    name: `my-${name}`,
    inject: row.inject ?? [],
    Config: row.Config,
    apply: async (ctx: never, config: never) => {
      process.stderr.write(`my-${name} runs\n`)
      await row.apply(ctx, config)
    },
  }
}
