/** Names that mean something of the run. `params` are the parameters of path and query; in a custom function, its own. */
export const runNames = ['params', 'query', 'body', 'headers', 'user', 'request', 'env'] as const
export type RunName = (typeof runNames)[number]

export function isRunName(name: string): name is RunName {
  return runNames.some((one) => one === name)
}

/** Names that mean the element of the list that is gone through, or the document that is looked at. */
export const frameNames = ['item', 'index', 'doc'] as const

export function isFrameName(name: string): boolean {
  return frameNames.some((one) => one === name)
}
