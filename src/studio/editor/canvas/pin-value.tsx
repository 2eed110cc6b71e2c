import { Popover } from '@mantine/core'
import { useEffect, useState } from 'react'
import { JsonView } from '../../controls/json/json-view.tsx'
import { canvasTexts } from '../../texts/canvas.ts'
import { glance, isCut } from '../model/runs/glance.ts'
import type { PinColor } from '../pins/pin-look.ts'
import classes from './pin-value.module.css'

interface PinValueProps {
  readonly pin: string
  readonly verb: 'got' | 'gave'
  readonly value: unknown
  readonly color: PinColor
  /** The mouse is over the wire that brought it, or the wire is selected. */
  readonly isPointed: boolean
}

/** How long the mouse or the keyboard rests on a value before it is shown whole, in milliseconds. */
const REST_MS = 250

/** What came in at a pin, or went out, in a few characters beside it. Resting on it shows it whole; a click keeps it open. */
export function PinValue({ pin, verb, value, color, isPointed }: PinValueProps) {
  const [isSaved, setSaved] = useState(false)
  const [isOver, setOver] = useState(false)
  const [isRested, setRested] = useRested(isOver || isPointed)
  const close = () => {
    setSaved(false)
    setRested(false)
  }
  const text = glance(value)
  return (
    <Popover
      opened={isSaved || isRested}
      onDismiss={close}
      position="bottom-start"
      shadow="md"
      withinPortal
      closeOnEscape={false}
    >
      <Popover.Target>
        <button
          type="button"
          className={`${classes.value} pin-${color} nodrag nopan`}
          data-verb={verb}
          aria-label={canvasTexts.pinValue(pin, verb === 'got', text)}
          onMouseEnter={() => setOver(true)}
          onMouseLeave={() => setOver(false)}
          onFocus={() => setOver(true)}
          onBlur={() => {
            setOver(false)
            close()
          }}
          onClick={(event) => {
            event.stopPropagation()
            setSaved(!isSaved)
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || !(isSaved || isRested)) return
            event.preventDefault()
            event.stopPropagation()
            setOver(false)
            close()
          }}
        >
          <span className={classes.text}>{text}</span>
        </button>
      </Popover.Target>
      <Popover.Dropdown
        p={6}
        maw={380}
        miw={150}
        className="nowheel nodrag nopan"
        onMouseDown={(event) => event.preventDefault()}
      >
        <WholeValue value={value} label={canvasTexts.whatPin(pin, verb === 'got')} />
      </Popover.Dropdown>
    </Popover>
  )
}

/** Whether it has been asked for long enough. */
function useRested(isRequested: boolean) {
  const [isRested, setRested] = useState(false)
  useEffect(() => {
    if (!isRequested) {
      setRested(false)
      return undefined
    }
    const timer = setTimeout(() => setRested(true), REST_MS)
    return () => clearTimeout(timer)
  }, [isRequested])
  return [isRested, setRested] as const
}

/** A value of a run, as much of it as was kept. */
function WholeValue({ value, label }: { readonly value: unknown; readonly label: string }) {
  if (!isCut(value)) return <JsonView value={value} label={label} />
  return (
    <>
      <p className={classes.cut}>{canvasTexts.valueCut(glance(value))}</p>
      <pre className={classes.beginning}>{value.$cut}</pre>
    </>
  )
}
