// Ends the program once everything runs: `code` after `ms`.
export const name = 'exit'
export async function apply(ctx, config) {
  ctx.hostReady.wait().then(() => setTimeout(() => ctx.appExit(config?.code ?? 0), config?.ms ?? 0))
}
