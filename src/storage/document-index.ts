/** An index over fields, in order. Searches that filter by a prefix and sort by the next field use it. */
export interface Index {
  readonly fields: readonly string[]
  /** Among present (not removed) documents; missing and null values do not collide. */
  readonly unique?: boolean
}
