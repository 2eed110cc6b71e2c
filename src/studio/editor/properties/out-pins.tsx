import { Button } from '@mantine/core'
import { useMemo } from 'react'
import type { OutPin } from '../../../shared/api/blocks/blocks.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { linksOf } from '../expressions/references.ts'
import { nameOf } from '../model/words/block-names.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './properties.module.css'

/** What the block gives, and where it goes. */
export function OutPins({
  guid,
  pins,
}: {
  readonly guid: string
  readonly pins: ReadonlyMap<string, OutPin>
}) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const wires = useMemo(() => linksOf(flow).filter(({ from }) => from.block === guid), [flow, guid])
  if (pins.size === 0) return null
  return (
    <div className={classes.section}>
      <h2 className={classes.sectionTitle}>{propertiesTexts.out}</h2>
      {[...pins].map(([pin, kind]) => {
        const targets = wires.filter(({ from }) => from.pin === pin)
        return (
          <div key={pin}>
            <div className={classes.pinHead} title={kind.help}>
              <PinMark type={kind.type} full={targets.length > 0} />
              {pin}
              <span className={classes.pinType}>{kind.type}</span>
              <span className={classes.pinActions}>
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="gray"
                  aria-label={propertiesTexts.addABlockAfter(pin)}
                  onClick={() =>
                    editor.set({
                      dialog: {
                        kind: 'add',
                        at: placeBehind(),
                        wire: { side: 'from', place: { block: guid, pin } },
                      },
                    })
                  }
                >
                  {propertiesTexts.add}
                </Button>
              </span>
            </div>
            {targets.length === 0 ? null : (
              <p className={classes.help}>
                {targets
                  .map(({ to }) => {
                    const target = flow.get(to.block)
                    return target ? `${nameOf(target, catalogue)} · ${to.pin}` : to.pin
                  })
                  .join(', ')}
              </p>
            )}
          </div>
        )
      })}
    </div>
  )

  function placeBehind() {
    const { x, y } = flow.get(guid)?.position ?? { x: 0, y: 0 }
    return { x: x + 330, y: y + 58 }
  }
}
