import type { ManagementScope } from './management-scopes.ts'

/** An option of the server as the API and the studio show it. */
export interface ServerOption {
  /** Its environment variable. */
  readonly name: string
  readonly help: string
  readonly accepts: string
  /** As one would write it. */
  readonly fallback: string
  /** Its text is never shown. */
  readonly secret: boolean
  /** Without a restart. */
  readonly changeable: boolean
  /** Needed to change it, besides those of settings. */
  readonly scope: ManagementScope | undefined
  /** What is wrong with this text, undefined for one that is accepted. */
  readonly problem: (text: string) => string | undefined
}
