import type { FastifyInstance } from 'fastify'

/** Requests that take longer are cut: a supervisor sends SIGKILL next. */
const GRACE_MS = 10_000

/**
 * On close the listener stops and idle connections end; a reply that is still to come says `connection: close`, since a
 * connection kept alive would hold the process until its client lets go.
 */
export function closeGracefully(
  app: FastifyInstance,
  graceMs = GRACE_MS,
): { readonly closing: () => boolean } {
  let closing = false
  let cut: NodeJS.Timeout | undefined
  app.addHook('preClose', (done) => {
    closing = true
    cut = setTimeout(() => app.server.closeAllConnections(), graceMs)
    done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })
  app.addHook('onClose', (_app, done) => {
    clearTimeout(cut)
    done()
  })
  return { closing: () => closing }
}
