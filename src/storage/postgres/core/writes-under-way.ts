/** Operations that write, each with what it knew of its storage when it began. */
export class WritesUnderWay {
  #writes = new Set<Promise<unknown>>()

  during<T>(write: Promise<T>): Promise<T> {
    const writes = this.#writes
    writes.add(write)
    const over = () => {
      writes.delete(write)
    }
    write.then(over, over)
    return write
  }

  /** Resolves when those that are under way now have sent their statements, whose locks tell the rest. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#writes)
  }
}
