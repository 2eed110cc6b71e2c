/** What a door lets a user do with documents, as the matrix of rules asks it. */

/** The doors that the rules of a storage promise to hold in (`docs/data.md`). */
export const doorNames = [
  'documents API',
  'imports',
  'exports',
  'resource trigger',
  'resource, live',
  'blocks as the user',
  'tables',
  'exports of tables',
  'forms',
  'files',
  'live updates',
] as const
export type DoorName = (typeof doorNames)[number]

export const operations = ['see', 'hidden', 'create', 'set', 'change', 'remove'] as const
export type Operation = (typeof operations)[number]

/** `''` is anonymous. */
export const roles = ['ann', 'bob', 'lead', 'admin', ''] as const
export type Role = (typeof roles)[number]

/** Status of the reply to a write. */
type Replied = Promise<number>

export interface Tries {
  /** Numbers of the deals that it shows, sorted. */
  see(as: Role): Promise<readonly number[]>
  /** Whether it shows the margin of a deal. */
  hidden(as: Role): Promise<boolean>
  /** A deal of the owner. */
  create(as: Role, owner: string): Replied
  /** A deal of one’s own, with a value for `approved`. */
  set(as: Role): Replied
  /** Gives the deal with this number a title. */
  change(as: Role, n: number): Replied
  remove(as: Role, n: number): Replied
}

/** A text says why a door has no such operation. */
export type Door = { readonly [O in Operation]: Tries[O] | string }

export const readsOnly = {
  create: 'It only reads.',
  set: 'It only reads.',
  change: 'It only reads.',
  remove: 'It only reads.',
} as const
