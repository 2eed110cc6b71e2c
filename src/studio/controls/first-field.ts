type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** Where one begins to type: the field that the form names, or its first one. Undefined for a question without fields. */
export function firstField(form: HTMLFormElement | null): HTMLElement | undefined {
  const named = form?.querySelector<HTMLElement>('[data-autofocus]')
  if (named) return named
  const fields = [...(form?.elements ?? [])].filter(isField)
  return fields.find(({ type }) => type !== 'radio' && type !== 'checkbox') ?? fields[0]
}

function isField(one: Element): one is Field {
  const isOne =
    one instanceof HTMLInputElement || one instanceof HTMLTextAreaElement || one instanceof HTMLSelectElement
  return isOne && !one.disabled && one.type !== 'hidden' && one.type !== 'file'
}
