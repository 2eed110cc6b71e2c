interface NamedField {
  readonly name: string
  readonly type: string
  readonly storage?: string | null | undefined
  readonly reference?: unknown
}

/** The field of a storage that is the name of its documents where people read them: the first text. */
export function shownName(fields: readonly NamedField[], requested: string): string | undefined {
  return fields.find(
    ({ type, storage, reference }) => type === 'string' && storage === requested && !reference,
  )?.name
}

/** `customer.first_name` → `First name`. */
export function wordsOfField(field: string): string {
  const words = (field.split('.').at(-1) ?? field).replace(/[_-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
