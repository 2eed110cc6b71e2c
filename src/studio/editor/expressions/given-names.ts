/** Names in expressions that mean something of the run and no block. */
export interface GivenName {
  readonly name: string
  readonly help: string
}

export const givenNames: readonly GivenName[] = [
  { name: 'params', help: 'Parameters of the path and the query; in a custom function its own parameters.' },
  { name: 'query', help: 'Parameters of the query; one that is sent several times is a list.' },
  { name: 'body', help: 'The body of the request.' },
  { name: 'headers', help: 'Headers of the request, with names in lower case.' },
  { name: 'user', help: 'The signed-in user, or nothing.' },
  { name: 'request', help: 'Method, path and address of the request.' },
  { name: 'env', help: 'Values of the environment: named values of this cluster.' },
  { name: 'item', help: 'The element of the innermost list that the flow goes through.' },
  { name: 'index', help: 'The position of that element, from 0.' },
]

export const documentName: GivenName = { name: 'doc', help: 'The document that the condition is about.' }

/** Of what a column of a table shows. */
export const cellNames: readonly GivenName[] = [
  { name: 'value', help: 'What the field of the column holds.' },
  { name: 'doc', help: 'The document of the row.' },
]

const given = new Set([...givenNames, documentName].map(({ name }) => name))

export function isGivenName(name: string): boolean {
  return given.has(name)
}
