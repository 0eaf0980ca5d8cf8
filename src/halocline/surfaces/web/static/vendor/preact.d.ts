export function h(type: any, props?: any, ...children: any[]): any
export function render(node: any, place: any): void
export class Component<Props = any, State = any> {
  constructor(props?: Props)
  props: Props
  state: State
  setState(state: Partial<State>): void
  forceUpdate(): void
}
export const Fragment: any
export function createRef(): { current: any }
