import { CloseButton, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useShortcut } from '../../shell/shortcuts.ts'
import { controlsTexts } from '../../texts/controls.ts'
import { Icon } from '../icon.tsx'
import { useListAddress } from './list-address.ts'

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
