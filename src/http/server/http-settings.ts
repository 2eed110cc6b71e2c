/**
 * What the HTTP door is told. The table of options gives the values and explains each to the operator. Limits and the level
 * of the log may change: they are read when they are needed.
 */
export interface HttpSettings {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  /** Bytes of a JSON or form body. Uploads have a limit of their own. */
  readonly bodyLimit: number
  /** Origins whose pages may call the API: `https://app.example.org`, or `*` for all. Empty = only our own pages. */
  readonly corsOrigins: readonly string[]
  /** Requests a second from one address to public routes; a burst may be as large. 0 = no limit. */
  readonly rateLimit: number
  /** Connections from one address at once; 0 = no limit. This machine and trusted proxies are not counted. */
  readonly connections: number
  /** Bytes of replies that may wait for their clients, in this process; 0 = no limit. */
  readonly waitingBytes: number
  /** In `development` the rate limit does not hold for this machine itself. */
  readonly environment: 'development' | 'production'
  /** Believe `x-forwarded-*`: true, false, or the addresses of the proxies. Wrong = clients can lie about their address. */
  readonly trustProxy: boolean | readonly string[]
  /** `debug` writes one line for each finished request; `info` only what an operator should see. */
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Calls back behind each change; gives what ends it. Nothing changes without. */
  readonly watch?: (listener: () => void) => () => void
}
