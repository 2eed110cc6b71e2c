import type { onRequestHookHandler } from 'fastify'

const WITH_PORT = /^(?:\[([0-9a-f:.]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/i

/**
 * Takes the ports out of `x-forwarded-for`, as some gateways write them (`1.2.3.4:5555`, `[2001:db8::1]:443`). With its
 * port each connection would be an address of its own, for the rate limit and for failed sign-ins.
 */
export const plainForwardedAddresses: onRequestHookHandler = ({ raw: { headers } }, _reply, done) => {
  const given = headers['x-forwarded-for']
  if (typeof given === 'string' && given.includes(':')) headers['x-forwarded-for'] = withoutPorts(given)
  done()
}

function withoutPorts(list: string): string {
  return list
    .split(',')
    .map((entry) => {
      const [whole, six, four] = WITH_PORT.exec(entry.trim()) ?? [entry.trim()]
      return six ?? four ?? whole
    })
    .join(', ')
}
