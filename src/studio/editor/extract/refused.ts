/** Why the selection cannot be a function, as one sentence for the builder. */
export class ExtractRefused extends Error {}

export function refuse(why: string): never {
  throw new ExtractRefused(why)
}
