/** The end of a message about a name that is unknown. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? '' : ` Did you mean ${name}?`
}
