import { ActionIcon, Tooltip } from '@mantine/core'
import type { PinType } from '../../../shared/pin-type.ts'
import { Icon } from '../../controls/icon.tsx'
import { propertiesTexts } from '../../texts/properties.ts'
import { storageOf } from '../gestures/inline-storage.ts'
import { disconnect, setLiteral } from '../model/changes/flow-changes.ts'
import type { PinPlace } from '../model/flow.ts'
import { pinsOf } from '../model/pins/pins.ts'
import { nameOf } from '../model/words/block-names.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './properties.module.css'

interface PinWiresProps {
  readonly guid: string
  readonly pin: string
  readonly type: PinType
  readonly wires: readonly PinPlace[]
}

/** The wires that end at a pin: where each comes from, and a button that removes it. */
export function PinWires({ guid, pin, type, wires }: PinWiresProps) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  return wires.map((end) => {
    const source = flow.get(end.block)
    const out = source && pinsOf(source, catalogue).out.get(end.pin)
    const name = source ? nameOf(source, catalogue) : propertiesTexts.aRemovedBlock
    return (
      <div key={`${end.block} ${end.pin}`} className={classes.wire}>
        {out ? <PinMark type={out.type} size={10} /> : null}
        <button
          type="button"
          className={classes.wireName}
          title={propertiesTexts.goTo(name)}
          onClick={() => editor.focusPin(end.block, '')}
        >
          {name} · {end.pin}
        </button>
        {type === 'storage' && storageOf(flow, end.block) !== undefined ? (
          <Tooltip label={propertiesTexts.storageHere}>
            <ActionIcon
              size="xs"
              variant="subtle"
              color="gray"
              aria-label={propertiesTexts.storageHereFor(pin)}
              onClick={() =>
                editor.run(propertiesTexts.chooseStorage, (now) =>
                  setLiteral(now, guid, pin, storageOf(now, end.block)),
                )
              }
            >
              <Icon name="edit" size={11} />
            </ActionIcon>
          </Tooltip>
        ) : null}
        <Tooltip label={propertiesTexts.removeWire}>
          <ActionIcon
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={propertiesTexts.removeWireFrom(name, end.pin)}
            onClick={() =>
              editor.run(propertiesTexts.removeWire, (now) =>
                disconnect(now, { from: end, to: { block: guid, pin } }),
              )
            }
          >
            <Icon name="close" size={11} />
          </ActionIcon>
        </Tooltip>
      </div>
    )
  })
}
