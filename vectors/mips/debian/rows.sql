-- A hundred thousand rows: filled in, grouped, joined, sorted, with and without an index.
create table sales (id integer primary key, shop integer, item text, price real, day integer);
create table shops (shop integer primary key, name text);
with recursive n(i) as (select 0 union all select i + 1 from n where i < 49)
insert into shops select i, 'shop ' || char(65 + i % 26) || i from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
insert into sales
select i, (i * 7919) % 50, 'item ' || ((i * 104729) % 997), ((i * 31337) % 10007) / 100.0, (i * 17) % 365 from n;
select count(*), round(sum(price), 2), min(price), max(price), count(distinct item) from sales;
select name, count(*), round(avg(price), 4) from sales join shops using (shop) group by shop order by 3 desc, 1 limit 8;
select item, round(sum(price), 2) as total from sales where day between 100 and 200 group by item order by total desc, item limit 8;
select day / 30, sum(price > 50), printf('%.3f', total(price)) from sales group by 1 order by 1;
create index by_item on sales (item, day);
select count(*) from sales a join sales b on a.item = b.item and a.day = b.day and a.id < b.id;
select item, day, id from sales where item like 'item 9%7' order by length(item), item, day, id limit 6;
update sales set price = price * 1.1 where shop in (select shop from shops where name like '%A%');
select round(sum(price), 3) from sales;
select id, sum(price) over (partition by shop order by id rows 10 preceding) as s from sales order by s desc, id limit 5;
delete from sales where id % 3 = 0;
select count(*), group_concat(shop, ',') from (select distinct shop from sales order by shop);
pragma integrity_check;
