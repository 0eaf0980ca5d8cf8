export interface Signal<T> {
  value: T
  peek(): T
  subscribe(hear: (value: T) => void): () => void
}
export function signal<T = any>(first?: any): Signal<T>
export function computed<T>(make: () => T): { readonly value: T; peek(): T }
export function effect(run: () => any): () => void
export function batch<T>(run: () => T): T
export function untracked<T>(run: () => T): T
