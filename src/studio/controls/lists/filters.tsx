import { Button, CloseButton, Select, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useShortcut } from '../../shell/shortcuts.ts'
import { controlsTexts } from '../../texts/shell.ts'
import { Icon } from '../icon.tsx'
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
      // On a phone it shares a line with the button before it.
      w={{ base: Math.min(width, 180), xs: width }}
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

/** A time that a link has narrowed the list to; pressed, the list is of all times again. */
export function TimeFilter() {
  const [, readdress, words] = useListAddress()
  const { gte, lte } = timeIn(words)
  if (gte === undefined || lte === undefined) return null
  const time = (at: number) =>
    new Date(at * 1000).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  return (
    <Button
      variant="default"
      rightSection={<Icon name="close" size={12} />}
      onClick={() => readdress({ since: '', until: '' })}
      aria-label={controlsTexts.showAllTimes}
    >
      {`${time(gte)} – ${time(lte)}`}
    </Button>
  )
}

interface Times {
  readonly gte?: number
  readonly lte?: number
}

function timeIn(words: URLSearchParams): Times {
  const [gte, lte] = [Number(words.get('since') ?? ''), Number(words.get('until') ?? '')]
  return Number.isSafeInteger(gte) && Number.isSafeInteger(lte) && gte > 0 && lte > 0 ? { gte, lte } : {}
}

/** The filter of the records' creation that `since` and `until` of the address ask for. */
export function timeFilterOf(words: URLSearchParams): Readonly<Record<string, Times>> {
  const times = timeIn(words)
  return times.gte === undefined ? {} : { '_meta.created': times }
}

/** Free text over a list, kept in the address. `/` goes there. */
export function SearchField({ label, width = 280 }: { readonly label: string; readonly width?: number }) {
  const [{ query }, readdress] = useListAddress()
  const [typed, setTyped] = useState(query)
  const input = useRef<HTMLInputElement>(null)
  const sent = useRef(query)
  const latest = useRef(readdress)
  latest.current = readdress
  useShortcut({ keys: '/', label: controlsTexts.searchThisList, group: controlsTexts.lists }, () =>
    input.current?.focus(),
  )
  useEffect(() => {
    if (query === sent.current) return
    sent.current = query
    setTyped(query)
  }, [query])
  useEffect(() => {
    if (typed === sent.current) return
    const timer = setTimeout(() => {
      sent.current = typed
      latest.current({ q: typed })
    }, 250)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <TextInput
      ref={input}
      w={width}
      maw="100%"
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" size={16} />}
      rightSection={
        typed === '' ? null : (
          <CloseButton size="sm" aria-label={controlsTexts.clearTheSearch} onClick={() => setTyped('')} />
        )
      }
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  )
}
