// Rejects when nobody looks any more.
export const name = 'late'
export async function apply(ctx) {
  ctx.hostReady.wait().then(() => setTimeout(() => Promise.reject(new Error('late rejection')), 50))
}
