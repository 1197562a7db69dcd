// A surface that only lives: it asks for live changes and prints what came of them.
export const name = 'surface'
export async function apply(ctx) {
  ctx.effect(() => {
    const timer = setInterval(() => {}, 1000)
    return () => clearInterval(timer)
  })
  ctx.on('host/reload', (outcome) => process.stdout.write(`RELOAD ${JSON.stringify(outcome)}\n`))
  ctx.hostReady.wait().then(() => {
    ctx.hostReload.watch()
    process.stdout.write('ready\n')
  })
}
