import { Select } from '@mantine/core'
import { useListAddress } from './list-address.ts'

interface SelectFilterProps {
  /** The word in the address. */
  readonly name: string
  readonly label: string
  readonly options: readonly (string | { readonly value: string; readonly label: string })[]
  readonly width?: number
}

/** Narrows a list by one of a few values, kept in the address. Empty: all. */
export function SelectFilter({ name, label, options, width = 160 }: SelectFilterProps) {
  const [, readdress, words] = useListAddress()
  return (
    <Select
      aria-label={label}
      placeholder={label}
      clearable
      searchable={options.length > 8}
      w={width}
      data={[...options]}
      value={words.get(name)}
      onChange={(value) => readdress({ [name]: value ?? '' })}
    />
  )
}

/** The filters that the address holds under these names: word → field of the record. */
export function filtersOf(
  words: URLSearchParams,
  fields: Readonly<Record<string, string>>,
): { readonly filters?: Readonly<Record<string, string>> } {
  const filters: Record<string, string> = {}
  for (const [word, field] of Object.entries(fields)) {
    const value = words.get(word)
    if (value) filters[field] = value
  }
  return Object.keys(filters).length > 0 ? { filters } : {}
}
