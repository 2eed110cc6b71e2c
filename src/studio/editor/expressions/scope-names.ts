import { propertiesTexts } from '../../texts/properties.ts'

/** Names in expressions that mean something of the run and no block. */
export interface ScopeName {
  readonly name: string
  readonly help: string
}

export const scopeNames: readonly ScopeName[] = [
  { name: 'params', help: propertiesTexts.paramsHelp },
  { name: 'query', help: propertiesTexts.queryHelp },
  { name: 'body', help: propertiesTexts.bodyHelp },
  { name: 'headers', help: propertiesTexts.headersHelp },
  { name: 'user', help: propertiesTexts.userHelp },
  { name: 'request', help: propertiesTexts.requestHelp },
  { name: 'env', help: propertiesTexts.envHelp },
  { name: 'item', help: propertiesTexts.itemHelp },
  { name: 'index', help: propertiesTexts.indexHelp },
]

export const documentName: ScopeName = { name: 'doc', help: propertiesTexts.docHelp }

/** Of what a column of a table shows. */
export const cellNames: readonly ScopeName[] = [
  { name: 'value', help: propertiesTexts.valueHelp },
  { name: 'doc', help: propertiesTexts.rowHelp },
]

const input = new Set([...scopeNames, documentName].map(({ name }) => name))

export function isScopeName(name: string): boolean {
  return input.has(name)
}
