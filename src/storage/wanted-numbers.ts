/** Numbers that a field is given by the database: see `Session.numbers`. */
export interface WantedNumbers {
  /** How many. 0: the next one, without giving it; those given later are `from` or above. */
  readonly count: number
  /** The smallest that may be given. */
  readonly from: number
}

/** The counter's key in the table `counter`. Names of storages have no blanks. */
export function counterName(storage: string, field: string): string {
  return `${countersOf(storage)}${field}`
}

/** What the names of a storage's counters begin with. */
export function countersOf(storage: string): string {
  return `${storage} `
}
