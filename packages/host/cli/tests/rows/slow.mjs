// Takes its time to go.
export const name = 'slow'
export async function apply(ctx, config) {
  const timer = setInterval(() => {}, 1000)
  ctx.effect(() => async () => {
    clearInterval(timer)
    await new Promise((resolve) => setTimeout(resolve, config.ms))
  })
  ctx.hostReady.wait().then(() => process.stdout.write('ready\n'))
}
