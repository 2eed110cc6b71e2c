/** An index over fields, in order. Searches that filter by a prefix and sort by the next field use it. */
export interface Index {
  readonly fields: readonly string[]
  /** Among present (not removed) documents; missing and null values do not collide. */
  readonly unique?: boolean
}

/** What searches on a storage will need to be fast. Without it they are right all the same, and scan. */
export interface Needs {
  readonly indexes?: readonly Index[]
  /** An index for free text. */
  readonly text?: boolean
}
