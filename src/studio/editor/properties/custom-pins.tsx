import { ActionIcon, Button, Group, Select, TextInput } from '@mantine/core'
import type { CustomOutPin } from '../../../shared/blueprint.ts'
import { canConvert, pinTypes } from '../../../shared/pin-type.ts'
import { Icon } from '../../controls/icon.tsx'
import { propertiesTexts } from '../../texts/properties.ts'
import { setCustomOut } from '../model/changes/flow-changes.ts'
import { useEditor } from '../state/editor-context.ts'
import { LazyInput } from './lazy-input.tsx'
import classes from './properties.module.css'

/** What can be handed over: a parameter travels as JSON. */
const types = pinTypes.filter((type) => type !== 'flow' && canConvert('any', type))

/** Out-pins that the builder adds: the parameters of a function. */
export function CustomPins({
  guid,
  pins,
}: {
  readonly guid: string
  readonly pins: readonly CustomOutPin[]
}) {
  const editor = useEditor()
  const { catalogue } = editor.store.getState()
  const set = (next: CustomOutPin[]) =>
    editor.run(
      propertiesTexts.changeParameters,
      (flow) => setCustomOut(flow, catalogue, guid, next),
      `custom ${guid}`,
    )
  const replace = (at: number, pin: CustomOutPin) => set(pins.map((one, index) => (index === at ? pin : one)))
  const free = () => {
    for (let n = pins.length + 1; ; n++)
      if (!pins.some(({ id }) => id === `parameter${n}`)) return `parameter${n}`
  }
  return (
    <div className={classes.section}>
      <h2 className={classes.sectionTitle}>{propertiesTexts.parameters}</h2>
      {pins.map((pin, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names change while they are written
        <Group key={at} gap={4} wrap="nowrap" align="flex-start">
          <LazyInput
            value={pin.id}
            onCommit={(id) => /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(id) && replace(at, { ...pin, id })}
            render={(field) => (
              <TextInput
                {...field}
                size="xs"
                aria-label={propertiesTexts.nameOfParameter(at + 1)}
                flex={1}
                error={
                  /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(field.value) ? undefined : propertiesTexts.parameterName
                }
              />
            )}
          />
          <Select
            size="xs"
            w={110}
            aria-label={propertiesTexts.typeOfParameter(at + 1)}
            data={types}
            value={pin.type}
            allowDeselect={false}
            onChange={(next) => {
              const type = types.find((one) => one === next)
              if (type) replace(at, { ...pin, type })
            }}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={propertiesTexts.removeParameter(pin.id)}
            onClick={() => set(pins.filter((_one, index) => index !== at))}
          >
            <Icon name="close" size={13} />
          </ActionIcon>
        </Group>
      ))}
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => set([...pins, { id: free(), type: 'value' }])}
        style={{ alignSelf: 'flex-start' }}
      >
        {propertiesTexts.addAParameter}
      </Button>
    </div>
  )
}
