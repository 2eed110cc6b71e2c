import { inspect } from 'node:util'
import type { Secret } from './secret.ts'

/** How the requests of a connection are signed in. */
export type SignIn =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly secret: Secret }
  | { readonly kind: 'basic'; readonly username: string; readonly secret: Secret }
  | { readonly kind: 'header'; readonly header: string; readonly secret: Secret }
  | {
      readonly kind: 'oauth2'
      readonly tokenUrl: string
      readonly clientId: string
      readonly secret: Secret
      readonly scope: string
    }

export interface OpenedConnection {
  /** Its path ends with a slash. */
  readonly baseUrl: URL
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly signIn: SignIn
  /** The same object until the connection changes: what access tokens are kept by. */
  readonly identity: object
}

/** What a block gets for a pin of the type `http_connection`. Written out, it is its name. */
export class HttpConnection {
  readonly name: string
  readonly #open: () => OpenedConnection

  /** `open`: throws PinError where there is none. */
  constructor(name: string, open: () => OpenedConnection) {
    this.name = name
    this.#open = open
  }

  /** As it is now. Throws PinError where there is none. */
  open(): OpenedConnection {
    return this.#open()
  }

  /** For what hides it, such as a trace. Undefined without a secret. */
  hidden(): string | undefined {
    try {
      const { signIn } = this.#open()
      return signIn.kind === 'none' ? undefined : signIn.secret.hidden()
    } catch {
      return undefined
    }
  }

  toJSON(): string {
    return `(connection ${this.name})`
  }

  [inspect.custom](): string {
    return this.toJSON()
  }
}
