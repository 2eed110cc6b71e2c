import { allowedHostProblem } from '../blocks/http/allowed-hosts.ts'
import { list, type OptionGroup, type ReadGroup, type ReadOne } from './option-kinds.ts'

/** Which other hosts are trusted, answered and called. */
export const networkOptions = {
  corsOrigins: {
    variable: 'QUOIN_CORS_ORIGINS',
    fallback: '',
    help: 'Origins whose pages may call the API, separated by commas; * for all.',
    ...list,
  },
  trustProxy: {
    variable: 'QUOIN_TRUST_PROXY',
    fallback: '',
    help: 'Addresses of your reverse proxies, separated by commas; their x-forwarded-for is trusted.',
    ...list,
  },
  allowedHosts: {
    variable: 'QUOIN_ALLOWED_HOSTS',
    fallback: '',
    help: 'Private hosts that flows and alerts may call: names, host:port or networks, separated by commas.',
    changeable: true,
    scope: 'settings_network',
    accepts: 'a list of host names, host:port or networks such as 10.0.0.0/8, separated by commas',
    read: (text: string) => {
      const hosts = list.read(text)
      return hosts.every((host) => allowedHostProblem(host) === undefined) ? hosts : undefined
    },
  },
} as const satisfies OptionGroup

export function readNetworkOptions(read: ReadOne): ReadGroup<typeof networkOptions> {
  return {
    corsOrigins: read(networkOptions.corsOrigins),
    trustProxy: read(networkOptions.trustProxy),
    allowedHosts: read(networkOptions.allowedHosts),
  }
}
