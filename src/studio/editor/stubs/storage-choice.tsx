import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { storageNamesQuery } from '../../api/storages.ts'
import { canvasTexts } from '../../texts/canvas.ts'
import { setLiteral } from '../model/changes/flow-changes.ts'
import { useEditor } from '../state/editor-context.ts'
import classes from './storage-choice.module.css'

interface StorageChoiceProps {
  readonly block: string
  readonly pin: string
  /** Its name; empty: none yet. */
  readonly value: string
}

/** The storage of a block, chosen in its row on the canvas. Another name is written in the panel. */
export function StorageChoice({ block, pin, value }: StorageChoiceProps) {
  const editor = useEditor()
  // Hundreds of blocks with hundreds of names each are not kept in the page: a list is made when it is about to be opened.
  const [isOpening, setOpening] = useState(false)
  const { data = [] } = useQuery({ ...storageNamesQuery, enabled: isOpening, retry: false })
  const names = new Set([
    ...(value === '' ? [] : [value]),
    ...(isOpening ? data.map(({ name }) => name) : []),
  ])
  return (
    <select
      className={`${classes.choice} nodrag nopan`}
      aria-label={canvasTexts.storageOf(pin)}
      value={value}
      onPointerEnter={() => setOpening(true)}
      onFocus={() => setOpening(true)}
      onChange={(event) => {
        const name = event.currentTarget.value
        editor.run(canvasTexts.set(pin), (flow) =>
          setLiteral(flow, block, pin, name === '' ? undefined : name),
        )
      }}
    >
      <option value="">{value === '' ? canvasTexts.choose : canvasTexts.none}</option>
      {[...names].map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}
