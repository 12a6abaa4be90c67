"""Records in compiled code: their types, and their attributes as loads and stores."""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, iternext_impl, lower_builtin, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import models, register_model

from nonsmooth.compile.records.packed import F64, I32, I64, PackedType, join, lane, split
from nonsmooth.compile.records.schema import SCHEMAS, Count, Inside, Link, Many, ModeTable, Table, VelocityTable, dtype


class RecordType(types.Type):
    """A record, represented by its address."""

    def __init__(self, schema, shape):
        self.schema, self.shape = schema, shape
        super().__init__(f"{schema}<{shape}>")

    @property
    def fields(self):
        """Its fields by name."""
        return SCHEMAS[self.schema].fields

    @property
    def dtype(self):
        """Its NumPy data type."""
        return dtype(self.schema, self.shape)


class RecordsIteratorType(types.SimpleIteratorType):
    """An iterator over contiguous records."""

    def __init__(self, record):
        self.record = record
        super().__init__(f"iterator<{record.name}>", record)


class RecordsType(types.IterableType):
    """Contiguous records, represented by the address of the first and their number."""

    def __init__(self, record):
        self.record = record
        super().__init__(f"records<{record.name}>")

    @property
    def iterator_type(self):
        """The name that numba requires."""
        return RecordsIteratorType(self.record)


class TableType(types.Type):
    """A table of rows, represented by the address of its first row and the bytes from each row to the next."""

    def __init__(self, schema, name, shape):
        self.owner, self.shape, self.kind = f"{schema}.{name}", shape, SCHEMAS[schema].fields[name]
        super().__init__(f"table<{schema}.{name}<{shape}>>")

    @property
    def value(self):
        """The numba type of what a text reads and writes."""
        if isinstance(self.kind, ModeTable):
            return types.int64
        shape = self.kind.value(self.shape)
        return PackedType(shape) if shape else types.float64


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, I64)


@register_model(RecordsType)
class _RecordsModel(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("at", types.int64), ("count", types.int64)])


@register_model(TableType)
class _TableModel(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("at", types.int64), ("step", types.int64)])


@register_model(RecordsIteratorType)
class _IteratorModel(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("at", types.EphemeralPointer(types.int64)), ("end", types.int64)])


# ---- attributes


@infer_getattr
class _Attribute(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, of, name):
        return _type(of, name) if name in of.fields else None


def _type(of, name):
    """The numba type of an attribute."""
    kind = of.fields[name]
    if isinstance(kind, Link | Inside):
        return RecordType(kind.to if isinstance(kind, Link) else kind.of, of.shape)
    if isinstance(kind, Many):
        return RecordsType(RecordType(kind.to, of.shape))
    if isinstance(kind, Table):
        return TableType(of.schema, name, of.shape)
    if isinstance(kind, Count):
        return types.int64
    shape = kind.shape(of.shape)
    return PackedType(shape) if shape else types.float64


def _marked(builder, access, of, name):
    """Tell LLVM that a field overlaps no other field, and whether it is constant during a run."""
    if of.fields[name].constant:
        access.set_metadata("invariant.load", builder.module.add_metadata([]))
        return access
    return _alone(builder, access, f"{SCHEMAS[of.schema].owner[name]}.{name}")


def _alone(builder, access, name):
    """Tell LLVM that what has this name overlaps nothing that has another one."""
    zero, module = ir.Constant(I64, 0), builder.module
    node = module.add_metadata([name, module.add_metadata(["records"]), zero])
    access.set_metadata("tbaa", module.add_metadata([node, node, zero]))
    return access


def _pointer(builder, at, offset, element):
    return builder.inttoptr(builder.add(at, ir.Constant(I64, offset)), element.as_pointer())


@lower_getattr_generic(RecordType)
def attribute(context, builder, of, at, name):
    """The load of an attribute."""
    kind, offset, result = of.fields[name], of.dtype.fields[name][1], _type(of, name)

    def loaded(element, further=0):
        value = builder.load(_pointer(builder, at, offset + further, element))
        value.align = 8
        return _marked(builder, value, of, name)

    if isinstance(kind, Link):
        return builder.add(at, loaded(I64))
    if isinstance(kind, Inside):
        return builder.add(at, ir.Constant(I64, offset))
    if isinstance(kind, Many):
        many = cgutils.create_struct_proxy(result)(context, builder)
        none = of.shape.rows < kind.least  # so that loops over them are no code
        many.at, many.count = (at, ir.Constant(I64, 0)) if none else (builder.add(at, loaded(I64)), loaded(I64, 8))
        return many._getvalue()
    if isinstance(kind, Table):
        table = cgutils.create_struct_proxy(result)(context, builder)
        table.at, table.step = loaded(I64), loaded(I64, 8) if kind.column else ir.Constant(I64, kind.size)
        return table._getvalue()
    if isinstance(result, PackedType):
        return join(builder, result, [loaded(result.part, 8 * result.lanes * i) for i in range(result.parts)])
    return loaded(I64 if result == types.int64 else F64)


@lower_setattr_generic(RecordType)
def _set(context, builder, sig, args, name):
    of, given = sig.args
    at, value = args
    offset, field = of.dtype.fields[name][1], _type(of, name)
    if isinstance(field, PackedType):
        parts, step = split(builder, field, value), 8 * field.lanes
    else:
        parts, step = [context.cast(builder, value, given, field)], 8
    for i, part in enumerate(parts):
        store = builder.store(part, _pointer(builder, at, offset + i * step, part.type))
        store.align = 8
        _marked(builder, store, of, name)


# ---- tables


def _rows(args):
    """Whether the arguments are a table, and a row, or a row and the record whose columns are meant."""
    if not isinstance(args[0], TableType):
        return False
    if isinstance(args[1], types.Integer):
        return not args[0].kind.column
    of = args[1].types if isinstance(args[1], types.BaseTuple) else ()
    return bool(args[0].kind.column) and len(of) == 2 and isinstance(of[1], RecordType)


@infer_global(operator.getitem)
class _Entry(AbstractTemplate):
    def generic(self, args, kws):
        if _rows(args):
            return signature(args[0].value, *args)


@infer_global(operator.setitem)
class _SetEntry(AbstractTemplate):
    def generic(self, args, kws):
        if _rows(args):
            return signature(types.none, args[0], args[1], args[0].value)


def _first(context, builder, sig, args):
    """The address of the first number."""
    of, index, shape = sig.args[0].kind, args[1], sig.args[0].shape
    at, step = (builder.extract_value(args[0], i) for i in (0, 1))
    if not of.column:
        return builder.add(at, builder.mul(index, step))
    row, record = (builder.extract_value(index, i) for i in (0, 1))
    column = attribute(context, builder, sig.args[1].types[1], record, of.column)
    before = builder.mul(column, ir.Constant(I64, of.size * of.width(shape)))
    return builder.add(builder.add(at, builder.mul(row, step)), before)


def _modes(context, builder, sig, args):
    """In a table of motions: memory for modes of a value, their number, address of the first; None in other tables."""
    table, (row, of) = sig.args[0], (args[1], sig.args[1])
    if not (isinstance(table.kind, VelocityTable) and table.shape.modes):
        return None
    count = attribute(context, builder, of.types[1], builder.extract_value(row, 1), "modes")
    room = cgutils.alloca_once(builder, ir.ArrayType(ir.VectorType(F64, 4), table.shape.modes // 4))
    rigid = ir.Constant(I64, 8 * len(table.kind.stored(table.shape)))
    return room, count, builder.add(_first(context, builder, sig, args), rigid)


def _four(builder, room, i):
    """The place of four modes in such memory."""
    return builder.gep(room, [ir.Constant(I32, 0), ir.Constant(I32, i)])


@lower_builtin(operator.getitem, TableType, types.Any)
def _entry(context, builder, sig, args):
    table, first = sig.args[0], _first(context, builder, sig, args)

    def loaded(i):
        value = builder.load(_pointer(builder, first, 8 * i, F64))
        value.align = 8
        return _alone(builder, value, table.owner)

    if isinstance(table.kind, ModeTable):
        value = builder.load(builder.inttoptr(first, ir.IntType(8).as_pointer()))
        return builder.sext(_alone(builder, value, table.owner), I64)
    if table.value == types.float64:
        return loaded(0)
    kind, lanes, modes = table.value, table.value.lanes, _modes(context, builder, sig, args)
    numbers = [ir.Constant(F64, 0.0)] * (kind.parts * lanes - (table.shape.modes if modes else 0))
    for i, component in enumerate(table.kind.stored(table.shape)):
        numbers[component] = loaded(i)
    parts = [_part(builder, numbers[i : i + lanes]) for i in range(0, len(numbers), lanes)]
    if modes:
        room, count, begin = modes
        fours = [_four(builder, room, i) for i in range(table.shape.modes // 4)]
        for four in fours:
            builder.store(ir.Constant(kind.part, [0.0] * 4), four)
        with cgutils.for_range(builder, count) as loop:
            _copied(builder, begin, builder.ptrtoint(room, I64), loop.index)
        parts += [builder.load(four) for four in fours]
    return join(builder, kind, parts)


def _copied(builder, source, target, i):
    """Copy a number of a row, or to one."""
    before = builder.mul(i, ir.Constant(I64, 8))
    places = (builder.inttoptr(builder.add(at, before), F64.as_pointer()) for at in (source, target))
    value = builder.load(next(places))
    store = builder.store(value, next(places))
    value.align = store.align = 8


def _part(builder, numbers):
    """A part of these numbers."""
    if len(numbers) == 1:
        return numbers[0]
    part = ir.Constant(ir.VectorType(F64, len(numbers)), [0.0] * len(numbers))
    for i, number in enumerate(numbers):
        if not isinstance(number, ir.Constant):
            part = builder.insert_element(part, number, ir.Constant(I32, i))
    return part


@lower_builtin(operator.setitem, TableType, types.Any, types.Any)
def _set_entry(context, builder, sig, args):
    table, first, value = sig.args[0], _first(context, builder, sig, args), args[2]

    def put(number, i):
        store = builder.store(number, _pointer(builder, first, 8 * i, number.type))
        store.align = 8
        _alone(builder, store, table.owner)

    if isinstance(table.kind, ModeTable):
        whole = builder.trunc(value, ir.IntType(8))
        _alone(builder, builder.store(whole, builder.inttoptr(first, whole.type.as_pointer())), table.owner)
    elif table.value == types.float64:
        put(value, 0)
    else:
        kind, parts, modes = table.value, split(builder, table.value, value), _modes(context, builder, sig, args)
        numbers = [lane(builder, part, i) for part in parts for i in range(4)] if kind.lanes == 4 else parts
        for i, component in enumerate(table.kind.stored(table.shape)):
            put(numbers[component], i)
        if modes:
            room, count, begin = modes
            fours = table.shape.modes // 4
            for i, part in enumerate(parts[-fours:]):
                builder.store(part, _four(builder, room, i))
            with cgutils.for_range(builder, count) as loop:
                _copied(builder, builder.ptrtoint(room, I64), begin, loop.index)
    return context.get_dummy_value()


# ---- many


@infer_global(len)
class _Len(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], RecordsType):
            return signature(types.int64, args[0])


@lower_builtin(len, RecordsType)
def _len(context, builder, sig, args):
    return builder.extract_value(args[0], 1)


@infer_global(operator.getitem)
class _Item(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], RecordsType) and isinstance(args[1], types.Integer):
            return signature(args[0].record, args[0], types.int64)


@lower_builtin(operator.getitem, RecordsType, types.Integer)
def _item(context, builder, sig, args):
    stride = ir.Constant(I64, sig.args[0].record.dtype.itemsize)
    return builder.add(builder.extract_value(args[0], 0), builder.mul(args[1], stride))


@lower_builtin("getiter", RecordsType)
def _getiter(context, builder, sig, args):
    of = sig.args[0]
    many = cgutils.create_struct_proxy(of)(context, builder, args[0])
    it = cgutils.create_struct_proxy(of.iterator_type)(context, builder)
    it.at = cgutils.alloca_once_value(builder, many.at)
    it.end = builder.add(many.at, builder.mul(many.count, ir.Constant(I64, of.record.dtype.itemsize)))
    return it._getvalue()


@lower_builtin("iternext", RecordsIteratorType)
@iternext_impl(RefType.UNTRACKED)
def _iternext(context, builder, sig, args, result):
    of = sig.args[0]
    it = cgutils.create_struct_proxy(of)(context, builder, args[0])
    at = builder.load(it.at)
    going_on = builder.icmp_unsigned("<", at, it.end)
    result.set_valid(going_on)
    with builder.if_then(going_on):
        result.yield_(at)
        builder.store(builder.add(at, ir.Constant(I64, of.record.dtype.itemsize)), it.at)
