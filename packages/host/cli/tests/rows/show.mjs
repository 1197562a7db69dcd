// Prints its config when it starts and when it goes, then keeps the process alive.
export const name = 'show'
export async function apply(ctx, config) {
  process.stderr.write(`SHOW ${JSON.stringify(config)}\n`)
  ctx.effect(() => {
    const timer = setInterval(() => {}, 1000)
    return () => {
      clearInterval(timer)
      process.stderr.write('GONE\n')
    }
  })
}
