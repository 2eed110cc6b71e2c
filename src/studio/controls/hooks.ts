import { useMutation } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useLocation, useSearch, useSearchParams } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import { notifyFailed } from './notify.ts'

/** What a form shows: what was typed, over what is stored. A newer record changes nothing that was typed. */
export function useDraft<T extends object>(stored: T) {
  const [{ typed, before }, setTyped] = useState<Typed<T>>({ typed: {}, before: {} })
  const now = { ...stored, ...typed }
  // The same object until something in it changes: what was found out about a draft is about that one.
  const draft = useRef(now)
  if (!sameText(draft.current, now)) draft.current = now
  return {
    draft: draft.current,
    /** What is stored, and of what was typed what was there before: where that is no longer stored, another person has changed the same. */
    shown: { ...stored, ...before },
    set: <Name extends keyof T>(name: Name, value: T[Name]) =>
      setTyped((all) => withTyped(all, stored, name, value)),
    /** What was sent is stored, and read again: the query tells its components of that by a timer, before which it would show the former values. */
    saved: (sent: object) => void setTimeout(() => setTyped((all) => typedOver(all, sent))),
  }
}

export interface Typed<T> {
  readonly typed: Partial<T>
  /** What the form showed before something was typed. */
  readonly before: Partial<T>
}

export function withTyped<T extends object, Name extends keyof T>(
  { typed, before }: Typed<T>,
  stored: T,
  name: Name,
  value: T[Name],
): Typed<T> {
  const isFirst = !Object.hasOwn(before, name)
  return {
    typed: { ...typed, [name]: value },
    before: isFirst ? { ...before, [name]: stored[name] } : before,
  }
}

/** After it was sent: what was typed since is over what was sent. */
export function typedOver<T extends object>({ typed, before }: Typed<T>, sent: object): Typed<T> {
  const since = typedSince(typed, sent)
  const over = { ...before, ...sent }
  for (const name of Object.keys(over) as (keyof T & string)[])
    if (!Object.hasOwn(since, name)) delete over[name]
  return { typed: since, before: over }
}

/** Without what is as it was sent: what was typed while the request was on its way is still to be sent. */
export function typedSince<T extends object>(typed: T, sent: object): T {
  const before = new Map<string, unknown>(Object.entries(sent))
  const since = { ...typed }
  for (const name of Object.keys(typed) as (keyof T & string)[])
    if (before.has(name) && sameText(before.get(name), typed[name])) delete since[name]
  return since
}

function sameText(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Given by a request of a dialog that asks for more before it does what the button says. */
export const stayOpen = Symbol()

interface DialogRequest {
  /** Says in a note what failed where the dialog was closed meanwhile. */
  readonly failed: string
  readonly opened: boolean
  readonly onClose: () => void
  /** The dialog closes when it is done, unless it gives {@link stayOpen}. */
  readonly send: () => Promise<unknown>
}

/**
 * What the button of a dialog sends. A dialog may be closed while its request is on its way: what failed is then said in a note,
 * and what succeeded closes no dialog that was opened since.
 */
export function useDialogRequest({ failed, opened, onClose, send }: DialogRequest) {
  const isShown = useRef(opened)
  useLayoutEffect(() => {
    isShown.current = opened
    return () => {
      isShown.current = false
    }
  }, [opened])
  return useMutation({
    mutationFn: send,
    onSuccess: (done) => {
      if (isShown.current && done !== stayOpen) onClose()
    },
    onError: (error) => {
      if (!isShown.current) notifyFailed(failed, error)
    },
  })
}

/** Which record a screen has open beside its list, as the address says (`?open=`); empty: none. */
export function useOpened(): readonly [string, (guid: string) => void] {
  const [words, setWords] = useSearchParams()
  const open = (guid: string) =>
    setWords((before) => {
      const next = new URLSearchParams(before)
      if (guid === '') next.delete('open')
      else next.set('open', guid)
      return next
    })
  return [words.get('open') ?? '', open]
}

/** Opens the dialog for a new record where the address asks for it (`?new`), and takes that out of the address. */
export function useAskedNew(open: () => void): void {
  const search = useSearch()
  const [path, go] = useLocation()
  const isAsked = new URLSearchParams(search).has('new')
  useEffect(() => {
    if (!isAsked) return
    go(path, { replace: true })
    open()
  }, [isAsked, path, go, open])
}

/** The title of the browser's tab; the name of what is open goes before what it is. */
export function useTabTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Quoin`
  }, [title])
}

/** Another number for each path, but for one whose screen goes on with what was typed in it: its state of the history names the path before. */
export function useScreenCount(): number {
  const [path] = useLocation()
  const state = useHistoryState<{ readonly goesOnFrom?: string } | null>()
  const [shown, setShown] = useState({ path, count: 0 })
  useEffect(() => {
    // It counts once: whatever comes back here later, from a path of the same name, goes on with nothing.
    if (state?.goesOnFrom !== undefined) history.replaceState(null, '')
  }, [state])
  if (shown.path === path) return shown.count
  const count = state?.goesOnFrom === shown.path ? shown.count : shown.count + 1
  setShown({ path, count })
  return count
}
