export interface Releasers {
  add(release: () => Promise<void> | void): void
  release(): Promise<void>
}

/** Clean-ups in the order in which they must not be done: released last first, all of them; the first error is thrown. */
export function releasers(): Releasers {
  const pending: (() => Promise<void> | void)[] = []
  return {
    add(release) {
      pending.push(release)
    },
    async release() {
      const errors: unknown[] = []
      for (let next = pending.pop(); next; next = pending.pop()) {
        try {
          await next()
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw errors[0]
    },
  }
}
